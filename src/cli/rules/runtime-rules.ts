import { unsupportedNode } from '../../lib/node-release';
import type { Finding, Rule } from './rule';

/** What a process runs on. These rules only warn: a process starts although they find something. */
export const RUNTIME_RULES: readonly Rule<unknown>[] = [
  { name: 'node_version', advice: 'Use Node.js 24, the version of the image.', check: checkNode },
];

function checkNode(): Finding {
  const warning = unsupportedNode(process.version, Date.now());
  return warning === null ? 'ok' : { warning };
}

/** Logs what the rules found, once, when a process starts. One that does not start prints only the reason. */
export async function logRuntimeWarnings(log: { readonly warn: (line: string) => void }): Promise<void> {
  for (const { advice, check } of RUNTIME_RULES) {
    const finding = await check(null);
    if (typeof finding === 'object' && 'warning' in finding) log.warn(`${finding.warning} ${advice}`);
  }
}

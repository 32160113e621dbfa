// `npm run vulnerabilities`: asks the registry for known vulnerabilities of the packages in the lock files. It fails if
// one is high or critical. If the registry does not offer that, or does not respond, it prints how many lock files were
// not checked, and passes: many mirrors do not offer it. With VULNERABILITIES=required it fails then.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIRECTORIES = ['.', 'packages/node', 'bench'];
const AUDIT = ['audit', '--json', '--package-lock-only', '--fetch-retries=1', '--fetch-timeout=30000'];
const FAILING = new Set(['high', 'critical']);

for (const [index, directory] of DIRECTORIES.entries()) {
  const { report, output } = audit(directory);
  const refusal = refusalIn(report);
  if (refusal !== null) {
    const unchecked = `${DIRECTORIES.length - index} of ${DIRECTORIES.length} lock files`;
    console.log(`Known vulnerabilities: NOT CHECKED in ${unchecked}: the registry does not report them (${refusal}).`);
    if (process.env.VULNERABILITIES === 'required') process.exitCode = 1;
    break;
  }
  if (report?.vulnerabilities === undefined) {
    console.error(`${directory}: npm audit failed.\n${output}`);
    process.exitCode = 1;
  } else printFound(directory, Object.values(report.vulnerabilities));
}

function audit(directory) {
  const options = { cwd: path.join(ROOT, directory), encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 };
  const { stdout, stderr, error } = spawnSync('npm', AUDIT, options);
  if (error) throw error;
  return { report: parse(stdout), output: stdout + stderr };
}

/** An error of npm itself has a code. That of a registry has the request, or the reason that none was possible. */
function refusalIn(report) {
  if (report?.message === undefined || report.error?.code !== undefined) return null;
  return report.message;
}

function printFound(directory, found) {
  const failing = found.filter(({ severity }) => FAILING.has(severity));
  const others = found.length - failing.length;
  console.log(`${directory}: ${failing.length} packages with high or critical vulnerabilities, ${others} with others`);
  for (const { name, severity, via } of failing) {
    const causes = via.map((cause) => (typeof cause === 'string' ? cause : `${cause.title}, ${cause.url}`));
    console.error(`  ${name}: ${severity} (${causes.join('; ')})`);
  }
  if (failing.length > 0) process.exitCode = 1;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

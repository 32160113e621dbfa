import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ROOT } from '../../src/package-info';

export interface Instruction {
  readonly name: string;
  readonly argument: string;
}

/** The instructions of the Dockerfile, with the values of its build arguments. */
export function readDockerfile(): Instruction[] {
  const lines = readFileSync(path.join(PACKAGE_ROOT, 'Dockerfile'), 'utf8').replaceAll(/\\\n/g, ' ').split('\n');
  const buildArguments = new Map<string, string>();
  return lines
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', text = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
      const argument = text.replaceAll(/\$\{(\w+)\}/g, (_, variable: string) => buildArguments.get(variable) ?? '');
      const [, variable, value] = /^(\w+)=(.*)$/.exec(argument) ?? [];
      if (name === 'ARG' && variable !== undefined && value !== undefined) buildArguments.set(variable, value);
      return { name, argument };
    });
}

/** Whether `.dockerignore` excludes a path of the build context. The last line that matches decides. */
export function isExcludedFromContext(file: string): boolean {
  return IGNORE_LINES.findLast(({ pattern }) => pattern.test(file))?.excludes ?? false;
}

const IGNORE_LINES = readFileSync(path.join(PACKAGE_ROOT, '.dockerignore'), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => ({ excludes: !line.startsWith('!'), paths: line.replace(/^!/, '') }))
  .map(({ excludes, paths }) => ({
    excludes,
    pattern: new RegExp(`^${paths.split('**/').map(toExpression).join('(?:.*/)?')}(?:/|$)`),
  }));

function toExpression(pattern: string): string {
  return pattern.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`).replaceAll('*', '[^/]*');
}

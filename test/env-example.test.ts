import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { z } from 'zod';
import { environmentSchema } from '../src/config';
import { loadLocalStackConfig, localStackSchema } from '../src/local-stack/local-stack-config';
import { PACKAGE_ROOT } from '../src/package-info';

const FILE = path.join(PACKAGE_ROOT, '.env.example');

const HEADER = `# Every environment variable of Lunas, with its default. An empty variable counts as absent.
# Copy this file to .env: lunas up (npm start) reads it. Variables of the environment win.
# Generated from src/config.ts and src/local-stack/local-stack-config.ts:
# UPDATE_ENV_EXAMPLE=1 npx jest test/env-example
`;
const LOCAL_STACK_HEADER = `
# ----------------------------------------------------------------------------
# Only the local stack and the sandbox read the variables below. No process of
# an installation reads or checks them.
`;

const variables = z.object({
  properties: z.record(z.string(), z.object({ description: z.string(), default: z.string().optional() })),
});

/** The JSON schema has the default of a text as it is given; a number's default is known only after parsing. */
function renderEnvExample(): string {
  const { properties } = variables.parse(z.toJSONSchema(localStackSchema, { io: 'input', unrepresentable: 'any' }));
  const defaults = z
    .record(z.string(), z.union([z.string(), z.number(), z.array(z.string()).transform((items) => items.join(','))]))
    .parse(loadLocalStackConfig({}));
  const linesOf = (names: readonly string[]) =>
    names.map((name) => {
      const property = properties[name];
      return `\n# ${property?.description}\n${name}=${property?.default ?? defaults[name] ?? ''}\n`;
    });
  const names = Object.keys(properties);
  const isOfInstallation = (name: string) => Object.hasOwn(environmentSchema.shape, name);
  return [
    HEADER,
    ...linesOf(names.filter(isOfInstallation)),
    LOCAL_STACK_HEADER,
    ...linesOf(names.filter((name) => !isOfInstallation(name))),
  ].join('');
}

describe('.env.example', () => {
  it('.env.example has each variable with its meaning and default (UPDATE_ENV_EXAMPLE=1 writes it)', () => {
    if (process.env.UPDATE_ENV_EXAMPLE === '1') writeFileSync(FILE, renderEnvExample());
    expect(readFileSync(FILE, 'utf8')).toBe(renderEnvExample());
  });

  it('changes nothing as it is', () => {
    expect(loadLocalStackConfig({ ...parseEnv(readFileSync(FILE, 'utf8')) })).toEqual(loadLocalStackConfig({}));
  });
});

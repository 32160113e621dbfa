import { execFile } from 'node:child_process';
import { copyFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { parseJson } from '../../src/lib/parse-json';
import { PACKAGE_ROOT } from '../../src/package-info';
import { temporaryDirectory } from '../local-stack/processes';

const BUILD_TIMEOUT_MS = 300_000;
const run = promisify(execFile);

const serviceSchema = z.object({
  image: z.string(),
  restart: z.string(),
  command: z.array(z.string()).nullable(),
  entrypoint: z.array(z.string()).nullable(),
  environment: z.record(z.string(), z.string()).default({}),
  depends_on: z
    .record(z.string(), z.object({ condition: z.string(), restart: z.boolean().default(false) }))
    .default({}),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  stop_grace_period: z.string().optional(),
  read_only: z.boolean().default(false),
  profiles: z.array(z.string()).default([]),
  deploy: z.object({ resources: z.object({ limits: z.object({ memory: z.string() }) }) }).optional(),
});

export type ComposeService = z.infer<typeof serviceSchema>;

const projectSchema = z.object({
  services: z.record(z.string(), serviceSchema),
  configs: z.record(z.string(), z.object({ content: z.string() })),
});

export type ComposeProject = z.infer<typeof projectSchema>;

/** Builds `compose-loader`, which loads compose files with the library of Docker Compose. This needs Go. */
export async function buildComposeLoader(): Promise<string> {
  const program = path.join(await temporaryDirectory(), 'compose-loader');
  const options = { cwd: path.join(__dirname, 'compose-loader'), timeout: BUILD_TIMEOUT_MS };
  await run('go', ['build', '-o', program, '.'], options);
  return program;
}

/**
 * Loads docker-compose.yml of the repository.
 * @param dotEnv the content of `.env` beside it
 * @throws Error with what compose-go prints, if it rejects the file
 */
export async function loadComposeFile(loader: string, dotEnv: string): Promise<ComposeProject> {
  const directory = await temporaryDirectory();
  const file = path.join(directory, 'docker-compose.yml');
  await copyFile(path.join(PACKAGE_ROOT, 'docker-compose.yml'), file);
  await writeFile(path.join(directory, '.env'), dotEnv);
  const { stdout } = await run(loader, [file], { env: {} });
  return projectSchema.parse(parseJson(stdout));
}

/** The names of the services that run the image of this repository, each after those that it depends on. */
export function lunasServicesInOrder({ services }: ComposeProject): string[] {
  const ordered = new Set<string>();
  const add = (name: string): void => {
    for (const dependency of Object.keys(services[name]?.depends_on ?? {})) add(dependency);
    ordered.add(name);
  };
  for (const name of Object.keys(services)) add(name);
  return [...ordered].filter((name) => services[name]?.image.startsWith('lunas') && !services[name].profiles.length);
}

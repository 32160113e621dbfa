import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { PACKAGE_ROOT } from '../../src/package-info';
import { temporaryDirectory } from '../local-stack/processes';

const VERSION = '3.22.0';
const BUILD_TIMEOUT_MS = 15 * 60_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const CHART = path.join(PACKAGE_ROOT, 'deploy', 'helm', 'lunas');
/** A helm that `go install` has built does not know a version of Kubernetes. */
const KUBERNETES = ['--kube-version', '1.33.0'];
const VALIDATE = path.join(__dirname, 'validate-manifests.mjs');

const run = promisify(execFile);

const fileSchema = z.object({ key: z.string(), path: z.string() });

const containerSchema = z.looseObject({
  name: z.string(),
  command: z.array(z.string()).optional(),
  args: z.array(z.string()).default([]),
  // No variable has the value of a secret.
  env: z.array(z.strictObject({ name: z.string(), value: z.string() })),
  volumeMounts: z.array(
    z.looseObject({ name: z.string(), mountPath: z.string(), readOnly: z.boolean().default(false) }),
  ),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
  readinessProbe: z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) }).optional(),
  resources: z.object({ requests: z.record(z.string(), z.string()), limits: z.record(z.string(), z.string()) }),
});

export type RenderedContainer = z.infer<typeof containerSchema>;

const volumeSchema = z.looseObject({
  name: z.string(),
  projected: z
    .object({
      defaultMode: z.number(),
      sources: z.array(z.object({ secret: z.object({ name: z.string(), items: z.array(fileSchema) }) })),
    })
    .optional(),
});

const podSchema = z.looseObject({
  terminationGracePeriodSeconds: z.number().optional(),
  securityContext: z.looseObject({ runAsUser: z.number(), fsGroup: z.number() }),
  containers: z.tuple([containerSchema], containerSchema),
  volumes: z.array(volumeSchema),
});

export type RenderedPod = z.infer<typeof podSchema>;

const manifestSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), annotations: z.record(z.string(), z.string()).default({}) }),
  spec: z
    .looseObject({
      replicas: z.number().optional(),
      template: z.looseObject({ spec: podSchema }).optional(),
    })
    .default({}),
});

export type Manifest = z.infer<typeof manifestSchema>;

export interface HelmTools {
  readonly helm: string;
  readonly decoder: string;
}

/** Builds Helm, if the cache of Lunas does not contain it, and the decoder of manifests. This needs Go. */
export async function buildHelmTools(): Promise<HelmTools> {
  const cache = path.join(process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache'), 'lunas', `helm-${VERSION}`);
  const helm = path.join(cache, 'helm');
  if (!existsSync(helm)) {
    const options = { env: { ...process.env, GOBIN: cache }, timeout: BUILD_TIMEOUT_MS };
    await run('go', ['install', `helm.sh/helm/v3/cmd/helm@v${VERSION}`], options);
  }
  const decoder = path.join(await temporaryDirectory(), 'manifest-decoder');
  const options = { cwd: path.join(__dirname, 'manifest-decoder'), timeout: BUILD_TIMEOUT_MS };
  await run('go', ['build', '-o', decoder, '.'], options);
  return { helm, decoder };
}

/** What `helm lint --strict` rejects; null: nothing. */
export async function lintChart({ helm }: HelmTools, values: object): Promise<string | null> {
  const { status, stdout, stderr } = spawnSync(
    helm,
    ['lint', '--strict', CHART, ...KUBERNETES, ...(await file(values))],
    {
      encoding: 'utf8',
    },
  );
  return status === 0 ? null : `${stdout}${stderr}`;
}

/** Renders the chart, and validates what it renders. */
export async function renderChart({ helm, decoder }: HelmTools, values: object): Promise<Manifest[]> {
  const args = ['template', 'lunas', CHART, '--namespace', 'payments', ...KUBERNETES, ...(await file(values))];
  const { stdout } = await run(helm, args, { maxBuffer: MAX_OUTPUT_BYTES });
  const decoded = pipe(decoder, [], stdout);
  pipe(process.execPath, [VALIDATE], decoded);
  return decoded
    .trim()
    .split('\n')
    .map((line) => manifestSchema.parse(JSON.parse(line)));
}

/** @throws Error with what the program prints, if it fails */
export function pipe(program: string, args: readonly string[], input: string): string {
  const { status, stdout, stderr } = spawnSync(program, args, { input, encoding: 'utf8', maxBuffer: MAX_OUTPUT_BYTES });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

/** JSON is YAML. */
async function file(values: object): Promise<string[]> {
  const name = path.join(await temporaryDirectory(), 'values.yaml');
  await writeFile(name, JSON.stringify(values));
  return ['--values', name];
}

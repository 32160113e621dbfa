import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { runCommand } from '../../src/local-stack/run-command';

export const KILL_BILL_VERSION = '0.22.20';
const TOMCAT_VERSION = '9.0.80';
/** A later version resolves the parents of the artifact too, which are not everywhere to be had. */
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:2.10:copy';
const WAR = `org.kill-bill.billing:killbill-profiles-killbill:${KILL_BILL_VERSION}:war`;
const TOMCAT = `org.apache.tomcat:tomcat:${TOMCAT_VERSION}:tar.gz`;
const TIMEOUT_MS = 10 * 60_000;
const MODULES = ['util', 'account', 'catalog', 'entitlement', 'invoice', 'payment', 'subscription', 'tenant', 'usage'];

/** Kill Bill, Tomcat and the files of Kill Bill's schema. */
export interface KillBillArtifacts {
  readonly tomcat: string;
  readonly webapp: string;
  /** In the order in which they are executed. */
  readonly schema: readonly string[];
}

/**
 * Downloads Kill Bill and Tomcat with Maven into the cache, unless they are there. This needs a JDK.
 * @throws Error if there is no JDK or no Maven, or if Maven cannot reach the artifacts
 */
export async function fetchKillBill(log: (line: string) => void): Promise<KillBillArtifacts> {
  const cache = process.env['XDG_CACHE_HOME'] ?? path.join(os.homedir(), '.cache');
  const directory = path.join(cache, 'lunas', `kill-bill-${KILL_BILL_VERSION}`);
  if (!existsSync(directory)) {
    log(`Maven downloads Kill Bill ${KILL_BILL_VERSION} and Tomcat ${TOMCAT_VERSION}, 70 MB`);
    const partial = `${directory}.partial`;
    await rm(partial, { recursive: true, force: true });
    await unpack(partial);
    await rename(partial, directory);
  }
  const ddl = (name: string, file = 'ddl.sql') => path.join(directory, 'ddl', 'org', 'killbill', 'billing', name, file);
  return {
    tomcat: path.join(directory, `apache-tomcat-${TOMCAT_VERSION}`),
    webapp: path.join(directory, 'webapp'),
    schema: [ddl('util', 'ddl-postgresql.sql'), ...[...MODULES, 'beatrix'].map((name) => ddl(name))],
  };
}

async function unpack(directory: string): Promise<void> {
  const [webapp, ddl] = [path.join(directory, 'webapp'), path.join(directory, 'ddl')];
  await Promise.all([webapp, ddl].map((each) => mkdir(each, { recursive: true })));
  const run = (command: string, args: readonly string[], cwd = directory): Promise<string> =>
    runCommand({ command, args, cwd, timeoutMs: TIMEOUT_MS, signal: new AbortController().signal });
  for (const artifact of [WAR, TOMCAT])
    await run('mvn', ['-q', '-B', COPY, `-Dartifact=${artifact}`, `-DoutputDirectory=${directory}`]);
  await run('tar', ['-xzf', `tomcat-${TOMCAT_VERSION}.tar.gz`]);
  await run('jar', ['-xf', path.join(directory, `killbill-profiles-killbill-${KILL_BILL_VERSION}.war`)], webapp);
  for (const name of [...MODULES, 'beatrix']) {
    const jar = path.join(webapp, 'WEB-INF', 'lib', `killbill-${name}-${KILL_BILL_VERSION}.jar`);
    const files = ['ddl.sql', ...(name === 'util' ? ['ddl-postgresql.sql'] : [])];
    await run('jar', ['-xf', jar, ...files.map((file) => `org/killbill/billing/${name}/${file}`)], ddl);
  }
}

import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import which from 'which';
import { findTemporalBinary } from '../../src/local-stack/find-temporal-binary';
import { loadLocalStackConfig, type LocalStackConfig } from '../../src/local-stack/local-stack-config';
import { Progress } from '../../src/local-stack/progress';
import { TEMPORAL_CLI, TEST_SERVER } from '../../src/local-stack/temporal-binaries';
import { eventually } from '../support/eventually';
import { temporaryDirectory, untilGone } from './processes';

/** A port without a server: the SDK's download fails immediately on every machine. */
const NO_DOWNLOAD = 'http://127.0.0.1:1';
const NEW_ENOUGH = 'temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)';
const TOO_OLD = 'temporal version 0.11.0 (Server 1.22.4, UI 2.21.3)';

const signal = new AbortController().signal;
const realPath = process.env.PATH;
const realProxy = process.env.HTTPS_PROXY;

let bin: string;
let cache: string;
let config: LocalStackConfig;
let output: string[];
let progress: Progress;

beforeEach(async () => {
  const directory = await temporaryDirectory();
  bin = path.join(directory, 'bin');
  cache = path.join(directory, 'cache', 'lunas');
  await mkdir(bin);
  for (const command of ['sh', 'dirname'])
    await symlink(await which(command, { path: realPath }), path.join(bin, command));
  process.env.PATH = bin;
  process.env.HTTPS_PROXY = NO_DOWNLOAD;
  config = loadLocalStackConfig({ XDG_CACHE_HOME: path.dirname(cache) });
  output = [];
  progress = new Progress({
    isTTY: false,
    columns: 80,
    write: (chunk: string | Uint8Array) => output.push(String(chunk)) > 0,
  });
});

afterAll(() => {
  process.env.PATH = realPath;
  process.env.HTTPS_PROXY = realProxy;
});

/** Writes a command in JavaScript, by default to a directory on PATH. */
async function fake(name: string, script: string, directory = bin): Promise<string> {
  const file = path.join(directory, name);
  await mkdir(directory, { recursive: true });
  await writeFile(file, `#!${process.execPath}\n${script}\n`, { mode: 0o755 });
  return file;
}

const printing = (line: string): string => `console.log(${JSON.stringify(line)})`;

/** A Go command that records each build and installs a `temporal` of this version. */
async function fakeGo(version: string): Promise<() => Promise<number>> {
  const builds = path.join(bin, 'builds');
  await fake(
    'go',
    `const { appendFileSync, writeFileSync } = require('node:fs');
    appendFileSync(${JSON.stringify(builds)}, process.argv.slice(2).join(' ') + '\\n');
    console.error('go: downloading go.temporal.io/server v1.29.1');
    console.error('go.temporal.io/server/common');
    const script = ${JSON.stringify(`#!${process.execPath}\n${printing(version)}\n`)};
    setTimeout(() => writeFileSync(process.env.GOBIN + '/temporal', script, { mode: 0o755 }), 200);`,
  );
  return async () => (await readFile(builds, 'utf8').catch(() => '')).split('\n').length - 1;
}

const findCli = (): Promise<string> => findTemporalBinary(TEMPORAL_CLI, config, progress, signal);

describe('the temporal command', () => {
  it('the temporal command is the configured one, before all others', async () => {
    await fake('temporal', printing(NEW_ENOUGH));
    const configured = await fake('mine', printing(NEW_ENOUGH));
    config = { ...config, TEMPORAL_CLI_PATH: configured };
    expect(await findCli()).toBe(configured);
    expect(output.join('')).toContain(`${configured} (TEMPORAL_CLI_PATH)`);
  });

  it('a configured one that does not work is an error; no other is used', async () => {
    await fake('temporal', printing(NEW_ENOUGH));
    config = { ...config, TEMPORAL_CLI_PATH: await fake('mine', printing('hello')) };
    await expect(findCli()).rejects.toThrow(/^TEMPORAL_CLI_PATH=.*mine cannot be used: --version prints "hello"$/);
    config = { ...config, TEMPORAL_CLI_PATH: '/nonexistent' };
    await expect(findCli()).rejects.toThrow('TEMPORAL_CLI_PATH=/nonexistent cannot be used: not an executable file');
  });

  it('the temporal command is the one on PATH, before the cached one', async () => {
    await fake('temporal', printing(NEW_ENOUGH), path.join(cache, 'temporal-cli-1.5.1'));
    const onPath = await fake('temporal', printing(NEW_ENOUGH));
    expect(await findCli()).toBe(onPath);
  });

  it('the temporal command is the cached one if the one on PATH is too old', async () => {
    await fake('temporal', printing(TOO_OLD));
    const cached = await fake('temporal', printing(NEW_ENOUGH), path.join(cache, 'temporal-cli-1.5.1'));
    expect(await findCli()).toBe(cached);
  });

  it('the temporal command is built with Go, once, and cached, if there is none and the download fails', async () => {
    const builds = await fakeGo(NEW_ENOUGH);
    const cached = path.join(cache, 'temporal-cli-1.5.1', 'temporal');
    expect(await findCli()).toBe(cached);
    expect(await findCli()).toBe(cached);
    expect(await builds()).toBe(1);
    expect(output.join('')).toMatch(
      /SDK's own download[^]*go install github\.com\/temporalio\/cli\/cmd\/temporal@v1\.5\.1/,
    );
    expect(await readdir(cache)).toEqual(['temporal-cli-1.5.1']);
  });

  it('the temporal command is built once by two concurrent starts', async () => {
    const builds = await fakeGo(NEW_ENOUGH);
    const [first, second] = await Promise.all([findCli(), findCli()]);
    expect(first).toBe(second);
    expect(await builds()).toBe(1);
    expect(output.join('')).toContain(`waiting for process ${process.pid}, which is fetching or building it`);
  });

  it('the temporal command is built again if the cached file is truncated', async () => {
    const builds = await fakeGo(NEW_ENOUGH);
    await truncate(await findCli(), 20);
    await findCli();
    expect(await builds()).toBe(2);
    expect(output.join('')).toContain('the cached file is broken; installing again');
  });

  it('an error names each method, its reason and the remedy if no method finds the temporal command', async () => {
    const failure = await findCli().catch((error: unknown) => String(error));
    expect(failure).toMatch(/There is no Temporal dev server\. Install Go 1\.25 or newer, or set TEMPORAL_CLI_PATH/);
    expect(failure).toMatch(
      /\n- TEMPORAL_CLI_PATH is not set\n- temporal is not on PATH\n- .*\(the cache\): not an executable/,
    );
    expect(failure).toMatch(/\n- the Temporal SDK's own download: [^]*\n- go install .*: go is not on PATH$/);
  });

  it('reports the output of Go if the build fails, leaves no files, and can be repeated', async () => {
    await fake('go', `console.error('no space left on device'); process.exit(1)`);
    await expect(findCli()).rejects.toThrow(/go install .*: .*exit code 1\n {4}no space left on device$/);
    expect(await readdir(cache)).toEqual([]);
    await fakeGo(TOO_OLD);
    await expect(findCli()).rejects.toThrow(/is too old: server 1\.29 or newer is needed$/);
    expect(await readdir(cache)).toEqual([]);
    await fakeGo(NEW_ENOUGH);
    expect(existsSync(await findCli())).toBe(true);
  });

  it('stops the compiler if the build is interrupted', async () => {
    const pidFile = path.join(bin, 'compiler');
    await fake(
      'go',
      `const { spawn } = require('node:child_process');
      const compiler = spawn(process.execPath, ['-e', 'process.on("SIGINT", () => {}); setInterval(() => {}, 1000)']);
      require('node:fs').writeFileSync(${JSON.stringify(pidFile)}, String(compiler.pid));`,
    );
    const aborter = new AbortController();
    const finding = findTemporalBinary(TEMPORAL_CLI, config, progress, aborter.signal);
    const compiler = await eventually(
      async () => Number(await readFile(pidFile, 'utf8').catch(() => '')),
      (pid) => pid > 0,
    );
    aborter.abort(new Error('Ctrl-C'));
    await expect(finding).rejects.toThrow('Ctrl-C');
    await untilGone(compiler);
    expect(await readdir(cache)).toEqual([]);
  });

  it('reports a cache that cannot be written, with the remedy', async () => {
    config = { ...config, XDG_CACHE_HOME: '/dev/null' };
    await expect(findCli()).rejects.toThrow(/the cache cannot be written: .*\(XDG_CACHE_HOME moves it\)/);
  });
});

describe('the test server', () => {
  const listening = `require('node:net').createServer().listen(Number(process.argv.at(-1)), '127.0.0.1')`;

  /** A Maven command that creates a library, and a Java command that listens like the server. */
  async function fakeMavenAndJava(): Promise<void> {
    await fake(
      'mvn',
      `const directory = process.argv.find((argument) => argument.startsWith('-DoutputDirectory=')).split('=')[1];
      const pom = require('node:fs').readFileSync(process.argv[process.argv.indexOf('--file') + 1], 'utf8');
      if (!pom.includes('<artifactId>temporal-test-server</artifactId>')) process.exit(1);
      require('node:fs').mkdirSync(directory);`,
    );
    await fake('java', listening);
  }

  it('the test server is the configured one', async () => {
    const configured = await fake('mine', listening);
    config = { ...config, TEMPORAL_TEST_SERVER_PATH: configured };
    expect(await findTemporalBinary(TEST_SERVER, config, progress, signal)).toBe(configured);
  });

  it('a configured one that does not listen is an error', async () => {
    config = { ...config, TEMPORAL_TEST_SERVER_PATH: await fake('mine', `console.log('no JVM'); process.exit(2)`) };
    await expect(findTemporalBinary(TEST_SERVER, config, progress, signal)).rejects.toThrow(
      /^TEMPORAL_TEST_SERVER_PATH=.* cannot be used: .*exit code 2\nno JVM$/,
    );
  });

  it('the test server is installed by Maven if the download fails: a script that executes Java', async () => {
    await fakeMavenAndJava();
    const file = await findTemporalBinary(TEST_SERVER, config, progress, signal);
    expect(file).toBe(path.join(cache, 'temporal-test-server-1.35.0', 'temporal-test-server'));
    expect(await readFile(file, 'utf8')).toMatch(/\nexec java .*io\.temporal\.testserver\.TestServer "\$@"\n$/);
  });

  it('an error names the missing program and the remedy if there is no test server', async () => {
    await fake('java', listening);
    const failure = await findTemporalBinary(TEST_SERVER, config, progress, signal).catch((error: unknown) =>
      String(error),
    );
    expect(failure).toMatch(/Install Java 11 or newer and Maven, or set TEMPORAL_TEST_SERVER_PATH/);
    expect(failure).toMatch(/by Maven: mvn is not on PATH$/);
  });
});

import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { dataDirectoryAt } from '../../src/local-stack/data-directory';
import { ensureDataFormat } from '../../src/local-stack/data-format';
import { freePorts, LunasProcess } from '../support/lunas-process';
import { temporaryDirectory } from './processes';

const OTHER_VERSION = 'was created by another version of Lunas, whose data this version cannot read.';
const REMEDY = 'Remove this directory, or set LUNAS_HOME to another one.';

async function directoryOfOlderCommit(): Promise<string> {
  const directory = await temporaryDirectory();
  await mkdir(path.join(directory, 'postgres', 'data'), { recursive: true });
  await writeFile(path.join(directory, 'master-key'), 'a'.repeat(44));
  return directory;
}

test('a new data directory gets the format of this version, and is accepted again', async () => {
  const dataDirectory = dataDirectoryAt(await temporaryDirectory());
  await ensureDataFormat(dataDirectory);
  await mkdir(dataDirectory.postgres);
  await expect(ensureDataFormat(dataDirectory)).resolves.toBeUndefined();
});

test('a data directory that only `lunas sandbox` has used is accepted', async () => {
  const directory = await temporaryDirectory();
  await mkdir(path.join(directory, 'sandbox', 'postgres'), { recursive: true });
  await mkdir(path.join(directory, 'logs'));
  await expect(ensureDataFormat(dataDirectoryAt(directory))).resolves.toBeUndefined();
});

test.each(['postgres', 'temporal'])('a data directory with %s and no format is rejected', async (name) => {
  const directory = await temporaryDirectory();
  await mkdir(path.join(directory, name));
  const result = ensureDataFormat(dataDirectoryAt(directory));
  await expect(result).rejects.toMatchObject({ name: 'UserError', message: `${directory} ${OTHER_VERSION} ${REMEDY}` });
});

test('a data directory with another format is rejected', async () => {
  const directory = await temporaryDirectory();
  await writeFile(path.join(directory, 'format'), '1\n');
  await expect(ensureDataFormat(dataDirectoryAt(directory))).rejects.toThrow(OTHER_VERSION);
});

test.each(['up', 'services'] as const)(
  '`lunas %s` on the data directory of an older commit prints one line and changes nothing',
  async (command) => {
    const directory = await directoryOfOlderCommit();
    const lunas = new LunasProcess(command, directory, await freePorts());
    expect(await lunas.exitCode).toBe(1);
    expect(lunas.stdout).toBe('');
    expect(lunas.stderr).toBe(`error: ${directory} ${OTHER_VERSION} ${REMEDY}\n`);
    expect(existsSync(path.join(directory, 'format'))).toBe(false);
    expect(existsSync(path.join(directory, 'run.json'))).toBe(false);
  },
);

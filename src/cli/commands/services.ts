import type { Command } from 'commander';
import type { Home, Run } from '../../embedded/home';
import { addressesText, createPaymentCommand, runAsJson } from './up';

export function addServicesCommand(program: Command): void {
  program
    .command('services')
    .description('run only PostgreSQL, Temporal and the sandbox, for an API and a worker of your own')
    .option('--json', 'print one JSON document when ready')
    .action(async ({ json }: { json?: true }) => {
      const { runEmbedded } = await import('../run-embedded.js');
      await runEmbedded(['sandbox'], json ? runAsJson : servicesText);
    });
}

function servicesText(run: Run, home: Home): string {
  return `
The services of Lunas are ready.

${addressesText(run, home)}

Start the API and the worker, each in a terminal of its own; they find these addresses by themselves:

  npx lunas api
  npx lunas worker

Then create a payment:

  ${createPaymentCommand(run)}

Ctrl-C stops the services; the data stays for the next start.`;
}

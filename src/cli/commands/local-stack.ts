import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';
import type { Command } from 'commander';
import { OPEN_STATUSES } from '../../domain/payment-transitions';
import type { ChildServiceName } from '../../local-stack/child-service';
import type { DataDirectory } from '../../local-stack/data-directory';
import type { RunFile } from '../../local-stack/run-file';

/** In the current directory; `.env.example` is its template. */
const ENV_FILE = '.env';

type Render = (runFile: RunFile, dataDirectory: DataDirectory, namespace: string) => string;

export function defineUp(up: Command): void {
  addStackAction(up, ['sandbox', 'codec', 'worker', 'api', 'dashboard'], renderUp);
}

export function defineServices(services: Command): void {
  addStackAction(services, ['sandbox', 'codec'], renderServices);
}

function addStackAction(command: Command, services: readonly ChildServiceName[], render: Render): void {
  command.option('--json', 'print one JSON document when ready').action(async ({ json }: { json?: true }) => {
    // Variables of the environment win. Other commands read the addresses of what runs.
    if (existsSync(ENV_FILE)) loadEnvFile(ENV_FILE);
    const { runLocalStack } = await import('../run-local-stack.js');
    await runLocalStack(services, json ? (runFile) => JSON.stringify(runFile, null, 2) : render);
  });
}

/** The addresses and secrets of the stack as text. */
function renderAddresses(runFile: RunFile, dataDirectory: DataDirectory): string {
  const webUi = runFile.temporal_ui_url ? `${runFile.temporal_ui_url} (Web UI), ` : '';
  const rows = [
    ...(runFile.dashboard_link === null ? [] : [['Dashboard', `${runFile.dashboard_link} (works once)`] as const]),
    ['API', runFile.api_url],
    ['Operator API', runFile.operator_url],
    ['Temporal', webUi + runFile.temporal_address],
    ['Sandbox', `${runFile.sandbox_url} (open it in a browser to pay)`],
    ['Data', dataDirectory.path],
    ['Logs', dataDirectory.logs],
    ['Merchant', runFile.merchant_id],
    ['Secret key', runFile.secret_key],
  ] as const;
  return rows.map(([name, value]) => `  ${name.padEnd(14)}${value}`).join('\n');
}

/**
 * Lists of Temporal's Web UI that are already filtered. None if the stack runs none. The Web UI shows no Boolean that
 * follows a space.
 */
function renderWebUiLinks({ temporal_ui_url: webUi }: RunFile, namespace: string): string {
  if (webUi === null) return '';
  const rows = [
    ['Needs attention', 'NeedsAttention=true'],
    ...OPEN_STATUSES.map((status) => [status, `PaymentStatus='${status}'`] as const),
  ] as const;
  const list = `${webUi}/namespaces/${encodeURIComponent(namespace)}/workflows`;
  const lines = rows.map(([name, query]) => `  ${name.padEnd(18)}${list}?${new URLSearchParams({ query }).toString()}`);
  return `\nPayments in Temporal's Web UI, by what they wait for:\n\n${lines.join('\n')}\n`;
}

/** A command that creates a payment at each execution. */
function createPaymentCommand(runFile: RunFile): string {
  const body = JSON.stringify({ amount: 50_000, merchant_reference_id: 'ORDER-1' });
  const headers = [`Authorization: Bearer ${runFile.secret_key}`, 'Content-Type: application/json'];
  return `curl -sS ${runFile.api_url}/payments ${headers.map((header) => `-H '${header}'`).join(' ')} -d '${body}'`;
}

export function renderUp(runFile: RunFile, dataDirectory: DataDirectory, namespace: string): string {
  return `
Lunas is ready.

${renderAddresses(runFile, dataDirectory)}

Create a payment:

  ${createPaymentCommand(runFile)}

Pay it with the reference_id of the response, or with the Pay button of the sandbox page:

  npx lunas sandbox pay REFERENCE_ID

List what waits for an operator:

  npx lunas attention
${renderWebUiLinks(runFile, namespace)}
Ctrl-C stops everything; the data stays for the next start.`;
}

function renderServices(runFile: RunFile, dataDirectory: DataDirectory): string {
  return `
The services of Lunas are ready.

${renderAddresses(runFile, dataDirectory)}

Start the API, the worker and the dashboard, each in its own terminal; they read these addresses from the data
directory:

  npx lunas api
  npx lunas worker
  npx lunas dashboard

Then create a payment:

  ${createPaymentCommand(runFile)}

Ctrl-C stops the services; the data stays for the next start.`;
}

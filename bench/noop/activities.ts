/** The activities of a bare lifecycle. The second one reports to the load generator that the last step has come. */

export function doNothing(): Promise<void> {
  return Promise.resolve();
}

export async function reportFinished(workflowId: string): Promise<void> {
  await fetch(process.env['FINISHED_URL'] ?? '', { method: 'POST', body: workflowId });
}

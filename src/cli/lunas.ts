#!/usr/bin/env node
import { run } from './run';

// A reader that has seen enough, such as `head`, closes the pipe: what is left is not for anybody.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);

async function main(): Promise<void> {
  const terminal = { stdout: process.stdout, stderr: process.stderr, environment: process.env };
  const exitCode = await run(process.argv.slice(2), terminal);
  if (exitCode !== 0) process.exitCode = exitCode;
}

void main();

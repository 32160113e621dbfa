#!/usr/bin/env node
import { enableCompileCache } from './compile-cache';

// A reader such as `head` closes the pipe early: the rest of the output is dropped.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);

async function main(): Promise<void> {
  // React's build for development is several times slower. The pages load it after this.
  process.env.NODE_ENV ??= 'production';
  enableCompileCache(process.env);
  const { run } = await import('./run.js');
  const terminal = { stdout: process.stdout, stderr: process.stderr, environment: process.env };
  const exitCode = await run(process.argv.slice(2), terminal);
  if (exitCode !== 0) process.exitCode = exitCode;
}

void main();

#!/usr/bin/env node
import { escapeControls } from '@call-attribution/core/errors';
import './stdout-guard.ts';
import process from 'node:process';
import { takeEnvironment } from '@call-attribution/core/environment';
import { run } from './program.ts';
import { flushOut, writeOut } from './stdout-guard.ts';

// When the host has closed its end of the pipe, nothing is left to do.
process.stdout.on('error', () => process.exit(0));

const stopped = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => resolve());
});
const code = await run(process.argv.slice(2), {
  env: takeEnvironment(),
  write: writeOut,
  log: (line) => void process.stderr.write(`call-attribution-mcp: ${escapeControls(line)}\n`),
  stopped,
});
await flushOut();
// Open sockets to the API must not keep the process alive after its host has left.
process.exit(code);

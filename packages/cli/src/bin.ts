#!/usr/bin/env node
import { takeEnvironment } from '@call-attribution/core/settings';
import { run } from './run.ts';

// Before anything else runs: diagnostic reports and child processes must not get the keys.
const env = takeEnvironment();

const stop = new AbortController();
let signals = 0;
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    signals++;
    // The second Ctrl-C ends the process at once.
    if (signals > 1) process.exit(130);
    stop.abort();
    // A command that reads its input would wait for the end of it.
    process.stdin.destroy();
  });
}

// Failed writes are handled where they are awaited. Without a listener they would end the process with a stack trace.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

process.exitCode = await run(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env,
  cwd: process.cwd(),
  now: () => new Date(),
  signal: stop.signal,
});

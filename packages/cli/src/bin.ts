#!/usr/bin/env node
import { takeEnvironment } from '@call-attribution/core/environment';
import { run } from './run.ts';
import { typedAs } from './typed-as.ts';

// Before anything else runs: diagnostic reports and child processes must not get the keys.
const env = takeEnvironment();

/** Ends the process by a signal: `process.exit` would hide which one. */
function endNow(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

const stop = new AbortController();
let signals = 0;
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    signals++;
    // The second Ctrl-C ends the process at once.
    if (signals > 1) endNow(name);
    stop.abort();
    // A command that reads its input would wait for the end of it.
    process.stdin.destroy();
  });
}

// Failed writes are handled where they are awaited. Without a listener they would end the process
// with a stack trace.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

process.exitCode = await run(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env,
  cwd: process.cwd(),
  clock: { now: () => Date.now() },
  signal: stop.signal,
  typedAs: typedAs(import.meta.filename, env),
});

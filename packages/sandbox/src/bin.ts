#!/usr/bin/env node
import { run } from './commands/run.ts';

// The first signal lets answers under way finish; the second ends the process at once.
const stopped = () =>
  new Promise<void>((done) => {
    let asked = false;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (asked) process.exit(130);
        asked = true;
        done();
      });
    }
  });
// A reader that went away, such as `| head`, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

process.exitCode = await run(process.argv.slice(2), {
  environment: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  stopped,
});

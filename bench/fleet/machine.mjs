// A worker of a shared job, in a process of its own: says `ready`, works once it is told to, and
// ends with the job. Runs on the Node.js that pg-boss asks for, and finds pg-boss in the folder
// that it is given.
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [path, keys, url, name, modules] = process.argv.slice(2);
const parentURL = pathToFileURL(join(modules, 'x.js')).href;
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier, specifier === 'pg-boss' ? { ...context, parentURL } : context),
});
const { createWorker, credentialsFrom, openPostgresEngine, openTarget, readJob } = await import(
  '@call-attribution/fleet'
);
const job = await readJob(path);
const target = await openTarget(job.into);
const engine = await openPostgresEngine(url, { job: job.name });
const credentials = credentialsFrom({ folder: keys });
const events = [];
const onEvent = (event) => events.push(event);
const worker = createWorker({ job, engine, target, credentials, name, slots: 1, onEvent });
process.send('ready');
await new Promise((resolve) => process.once('message', resolve));
const before = process.cpuUsage();
await worker.run();
const { user, system } = process.cpuUsage(before);
const turns = events.filter(({ kind }) => kind === 'turn');
process.send({
  turns: turns.length,
  requests: turns.reduce((sum, { requests }) => sum + requests, 0),
  calls: turns.reduce((sum, { calls }) => sum + calls, 0),
  cpu: (user + system) / 1e6,
});
process.disconnect();
await target.close();
await engine.close();

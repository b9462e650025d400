// Works once on a job in a process of its own, and says its largest RSS in MB.
import {
  createWorker,
  credentialsFrom,
  memoryEngine,
  openTarget,
  readJob,
} from '@call-attribution/fleet';

const [path, keys, slots] = process.argv.slice(2);
const job = await readJob(path);
const target = await openTarget(job.into);
const engine = memoryEngine();
const credentials = credentialsFrom({ folder: keys });
await createWorker({ job, engine, target, credentials, name: 'w', slots: Number(slots) }).run();
await target.close();
const { tickets } = await engine.look();
const calls = tickets.reduce((sum, { note }) => sum + (note.calls ?? 0), 0);
process.send({ calls, mb: process.resourceUsage().maxRSS / 1024 });
process.disconnect();

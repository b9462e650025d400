// Takes a lock again and again until it is killed: `node lock-holder.mjs <lock> <guard>`. Prints
// `held` for each time, or `both` when another process that runs holds it too.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { FileLockedError, lockFile } from '../../src/files/index.ts';

const [lock = '', guard = ''] = process.argv.slice(2);

function isRunning(pid: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2)[0] !== 'Z';
  } catch {
    return false;
  }
}

for (;;) {
  try {
    const unlock = await lockFile(lock);
    const other = existsSync(guard) ? readFileSync(guard, 'utf8') : '';
    writeFileSync(guard, String(process.pid));
    await delay(Math.random() * 8);
    const isMine = existsSync(guard) && readFileSync(guard, 'utf8') === String(process.pid);
    process.stdout.write(isMine && (other === '' || !isRunning(other)) ? 'held\n' : 'both\n');
    rmSync(guard, { force: true });
    await unlock();
  } catch (error) {
    if (!(error instanceof FileLockedError)) throw error;
  }
  await delay(Math.random() * 8);
}

import { setTimeout } from 'node:timers/promises';
import { type FleetStatus, statusOf } from '@call-attribution/fleet';
import type { Args } from '../args/command.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, show, shownText, write, writeRaw } from '../io.ts';
import { styleFor, widthOf } from '../term/style.ts';
import { whileWaiting } from '../term/waiting.ts';
import { openShared, unknownJob } from './place.ts';
import { statusLine, statusScreen } from './status-screen.ts';
import { hasTrouble } from './words.ts';

/** Milliseconds between two looks with --watch: on a terminal, and elsewhere. */
const [redraw, logged] = [1_000, 10_000];
/** `calls fleet status`: what runs, which accounts are stuck, why, and what helps. */
export async function status(args: Args, io: Io): Promise<number> {
  const { name, engine } = await openShared(args, io);
  const read = async (): Promise<FleetStatus> => {
    const found = statusOf(await engine.look(), io.clock.now());
    if (found === null) throw unknownJob(name);
    return found;
  };
  try {
    if (args.flag('watch')) return await watch(read, args, io);
    await print(await read(), args, io);
    return exitCodes.ok;
  } finally {
    await engine.close();
  }
}

async function print(status: FleetStatus, args: Args, io: Io): Promise<void> {
  if (args.flag('json')) return write(io.stdout, `${JSON.stringify(forPrograms(status, args))}\n`);
  return show(io, screen(status, args, io));
}

const screen = (status: FleetStatus, args: Args, io: Io): string[] =>
  statusScreen(status, {
    width: widthOf(io.stdout, io.env),
    style: styleFor(io.stdout, io.env),
    all: args.flag('all'),
  });

/** Without --all only the stuck accounts, as on the screen. */
function forPrograms(status: FleetStatus, args: Args): FleetStatus {
  if (args.flag('all')) return status;
  return { ...status, accounts: status.accounts.filter(hasTrouble) };
}

/** Shows the status again and again, until the job is over or Ctrl-C. */
async function watch(read: () => Promise<FleetStatus>, args: Args, io: Io): Promise<number> {
  const repaints = io.stdout.isTTY === true && io.env.TERM !== 'dumb' && !args.flag('json');
  if (repaints) await writeRaw(io.stdout, '\u001b[2J');
  return whileWaiting(null, async () => {
    while (!io.signal.aborted) {
      const status = await read();
      if (repaints) await paint(screen(status, args, io), io);
      else if (args.flag('json')) await print(status, args, io);
      else await show(io, [statusLine(status)]);
      if (status.state === 'done') return exitCodes.ok;
      await setTimeout(repaints ? redraw : logged, undefined, { signal: io.signal }).catch(() => {});
    }
    return exitCodes.interrupted;
  });
}

/** Over what was there before, from the top: a terminal whose size changes stays right. */
function paint(lines: readonly string[], io: Io): Promise<void> {
  const rows = io.stdout.rows ?? 24;
  const shown = lines.length < rows ? lines : lines.slice(0, rows - 1);
  const text = shown.map((line) => `${shownText(line)}\u001b[K`).join('\n');
  return writeRaw(io.stdout, `\u001b[H${text}\u001b[J\n`);
}

import type { Listening } from '@call-attribution/service';
import type { Args } from '../args/command.ts';
import type { ServiceSection } from '../config/service-section.ts';
import { type Io, say, write } from '../io.ts';
import { logsTo } from './options.ts';

/** How a command that serves speaks on stderr. */
export interface Voice {
  /** Is stderr a log for programs? */
  readonly isLog: boolean;
  /** A sentence for people; nothing in a log. */
  notify(line: string): void;
  /** A line of the log. */
  log(level: 'info' | 'error', message: string, facts: object): void;
}

/** Speaks in sentences where people read, and in lines of JSON where a log is written and nobody looks on. */
export function voiceOf(section: ServiceSection, standard: 'json' | 'off', io: Io): Voice {
  const isLog = logsTo(section, standard) && io.stderr.isTTY !== true;
  return {
    isLog,
    notify: (line) => (isLog ? undefined : say(io, line)),
    log: (level, message, facts) =>
      say(io, JSON.stringify({ time: new Date(io.clock.now()).toISOString(), level, message, ...facts })),
  };
}

/** Prints the line of --ready-json: programs wait for it. */
export async function sayReady(
  args: Args,
  io: Io,
  ready: Pick<Listening, 'url' | 'legacyUrl'> & {
    readonly accounts: readonly object[];
    readonly token?: string;
  },
): Promise<void> {
  if (args.flag('ready-json')) await write(io.stdout, `${JSON.stringify(ready)}\n`);
}

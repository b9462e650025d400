import { command } from '../command.ts';
import { accounts, connection, only, output, whichCalls } from '../options.ts';

/** `calls verify`. */
export const verify = command({
  name: 'verify',
  summary: 'count what files and stores hold, and compare it with receipts and with the API',
  about:
    'Reads every row of a file, of all files in a folder, or of a store, and counts it. A file is compared with its receipt, ' +
    'a store with what its syncs have proved. --against-api reads the calls of the period ' +
    'from the API as well, and names calls that are missing, more or changed; what a store lacks is read by its next sync. ' +
    'Callers who were erased and calls that were purged count apart. The exit status is 0 when nothing is wrong, else 3: also ' +
    'where nothing proves that all calls are there.',
  words: {
    '<path>':
      'a file, a folder, the job file of calls fleet, or a store: sqlite:calls.db or postgres://user@host/name',
  },
  options: {
    '--against-api': 'compare with the API, call by call; it costs as many requests as an export',
    '--keys <folder>':
      'with --against-api and the job file of calls fleet: folder with the credentials of the accounts (default: CALLS_FLEET_KEYS, else the current folder)',
    ...only(whichCalls, '--from <time>', '--to <time>'),
    ...only(output, '--json'),
    ...only(accounts, '--account <names>'),
    ...connection,
  },
  examples: {
    'calls verify calls.csv': 'is it still what its receipt says?',
    'calls verify exports/ --json': 'every file in a folder',
    'calls verify job.json': 'what calls fleet has written, account by account',
    'calls verify sqlite:calls.db --against-api --from 30d': 'a store and the API, call by call',
  },
  async run(args, io) {
    return (await import('./runs/verify.ts')).verify(args, io);
  },
});

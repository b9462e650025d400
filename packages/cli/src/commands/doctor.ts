import { command } from '../command.ts';
import { accounts, connection, legacy, only, output, whichCalls } from '../options.ts';

/** `calls doctor`. */
export const doctor = command({
  name: 'doctor',
  summary: 'check configuration, network and copies, and say what to do',
  about:
    'Looks at versions, names of variables, proxy and accounts. Then tries the settings: configuration file, URL, version, ' +
    'keys, time zone, a first call, a count, SMS; and looks at the store of CALLS_STORE. It changes nothing and shows no keys. The exit status is 0 when nothing is wrong. --offline asks no server: what is ' +
    'configured, and how fresh, how large and how whole each copy is; the exit status is 3 when one is not whole.',
  options: {
    '--offline': 'ask no server',
    ...only(whichCalls, '--store <url>'),
    ...only(output, '--json'),
    ...accounts,
    ...legacy,
    ...connection,
  },
  examples: {
    'calls doctor': 'each item with what was found and, where needed, what to do',
    'calls doctor --offline --json': 'for monitoring of copies',
    'calls doctor --all-accounts --json': 'for monitoring, with each account of calls.config.json',
  },
  async run(args, io) {
    return (await import('./runs/doctor.ts')).doctor(args, io);
  },
});

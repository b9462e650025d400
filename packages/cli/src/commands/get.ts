import { command } from '../command.ts';
import { accounts, connection, only, output, whichCalls } from '../options.ts';

/** `calls get`. */
export const get = command({
  name: 'get',
  summary: 'show one call by its session ID',
  printsRows: true,
  words: { '<sid>': 'session ID of the call' },
  options: {
    ...only(whichCalls, '--store <url>'),
    ...output,
    ...accounts,
    ...connection,
  },
  examples: [
    ['calls get 1000000001', 'every field that has a value, by group'],
    ['calls get 1000000001 --json', 'the whole record'],
  ],
  async run(_options, io, args) {
    return (await import('../runs/get.ts')).get(args, io);
  },
});

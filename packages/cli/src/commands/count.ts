import { command } from '../command.ts';
import { accounts, connection, only, output, whichCalls, without } from '../options.ts';

/** `calls count`. */
export const count = command({
  name: 'count',
  summary: 'count the calls that match',
  options: {
    ...without(whichCalls, '--on-bad-record <stop|skip>'),
    ...only(output, '--json'),
    ...accounts,
    ...connection,
  },
  examples: [['calls count --period yesterday --time-zone Europe/Berlin', 'one number on stdout']],
  async run(_options, io, args) {
    return (await import('../runs/count.ts')).count(args, io);
  },
});

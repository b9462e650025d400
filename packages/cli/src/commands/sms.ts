import { command } from '../command.ts';
import { accounts, connection, legacy, only, output } from '../options.ts';

/** `calls sms`. */
export const sms = command({
  name: 'sms',
  summary: 'show the numbers of the account that can receive text messages',
  printsRows: true,
  options: {
    ...only(output, '--json', '--format <table|ndjson|csv>', '-o, --output <file>'),
    ...accounts,
    ...legacy,
    ...connection,
  },
  examples: [['calls sms --format csv', 'number, whether SMS is enabled, and listener URL']],
  async run(_options, io, args) {
    return (await import('../runs/sms.ts')).sms(args, io);
  },
});

import { command } from '../command.ts';
import { only, output } from '../options.ts';

/** `calls fields`. */
export const fields = command({
  name: 'fields',
  summary: 'explain the fields of a call record',
  printsRows: true,
  about: 'Needs no server and no keys.',
  words: { '[field]': 'part of the name or the meaning of a field' },
  options: only(output, '--json', '--format <table|ndjson|csv>', '-o, --output <file>'),
  examples: [
    ['calls fields', 'all fields, by group'],
    ['calls fields gclid', 'fields with this word in their name or meaning'],
  ],
  async run(_options, io, args) {
    return (await import('../runs/explain-fields.ts')).fields(args, io);
  },
});

import { isLoopback } from '@call-attribution/core/settings';
import { expect, test } from 'vitest';

test.each([
  ['localhost', true],
  ['127.0.0.1', true],
  ['127.8.8.8', true],
  ['[::1]', true],
  ['::1', true],
  ['LOCALHOST', true],
  ['[0:0:0:0:0:0:0:1]', true],
  ['[::ffff:127.0.0.1]', true],
  ['::ffff:7f00:1', true],
  ['127.evil.example', false],
  ['localhost.', false],
  ['127.0.0.1.', false],
  ['127.1', false],
  ['0x7f.1', false],
  ['2130706433', false],
  ['127.0.0.999', false],
  ['[::1%lo]', false],
  ['[::ffff:10.0.0.1]', false],
  ['0.0.0.0', false],
  ['', false],
  ['127.0.0.1.evil.example', false],
  ['localhost.evil.example', false],
  ['10.0.0.1', false],
])('whether %s is this machine: %s', (host, answer) => expect(isLoopback(host)).toBe(answer));

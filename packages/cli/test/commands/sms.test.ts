import { expect, test } from 'vitest';
import { openStage } from '../stage.ts';

const stage = openStage();

test('calls sms shows the numbers', async () => {
  const { stdout, stderr } = await stage.quick(['sms']);
  expect(stdout).toMatch(/^Number +SMS +Listener\n\d+ +true +https:/);
  expect(stderr).toBe('2 SMS-enabled numbers, 1 other number\n');
  expect((await stage.quick(['sms', '--format', 'csv'])).stdout).toMatch(
    /^number,smsEnabled,url\r\n\d+,true,https/,
  );
});

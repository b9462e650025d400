import { UsageError } from '../errors.ts';

/** Refuses the address of a store that has a password in it: the process list shows options to everybody. */
export function refusePassword(url: string): void {
  const inUser = /^postgres(?:ql)?:\/\/[^@?#]*:[^@?#]*@/i.test(url);
  if (!inUser && !/^postgres.*[?&](?:ssl)?password=/i.test(url)) return;
  throw new UsageError('--store must not have a password in it: other users of the machine could read it', {
    hints: ['set PGPASSWORD, or use a password file (~/.pgpass)'],
  });
}

// The attackers of the drill, in a process of their own. A message names the attack, and `end` lets
// go of its connections.
import { getPriority, setPriority } from 'node:os';
import {
  greedyReaders,
  type Outcome,
  pipelinedPages,
  silentConnections,
  slowReaders,
  type Target,
  wrongKeysOn,
} from './attacks.ts';

// They represent other machines, which take less CPU time from the service than a program on its
// own.
setPriority(Math.min(19, getPriority() + 5));
const port = Number(process.argv[2]);
const keys = 'access_key: bad_access\r\nsecret_key: bad_secret\r\n';
const addresses = Array.from({ length: 40 }, (_, i) => `127.0.0.${10 + i}`);
const target: Target = { port, isSecure: false, from: addresses.slice(0, 1), keys };
const fromMany: Target = { ...target, from: addresses };

const attacks: Readonly<Record<string, (until: Promise<void>) => Promise<Outcome>>> = {
  '600 pages sent ahead on one connection': () => pipelinedPages(target, 600),
  '300 connections of one address that do not read': (until) => slowReaders(target, 300, 1, until),
  '300 connections of 40 addresses that do not read': (until) =>
    slowReaders(fromMany, 300, 1, until),
  '200 connections that read compressed large pages without pause': (until) =>
    greedyReaders(fromMany, 200, until),
  'wrong keys on 50 connections as fast as they are refused': (until) =>
    wrongKeysOn(fromMany, 50, until),
  '2,000 silent connections': (until) => silentConnections(fromMany, 2_000, until),
};

let end = (): void => undefined;
process.on('message', (name: string) => {
  if (name === 'end') return end();
  const until = new Promise<void>((done) => {
    end = done;
  });
  void attacks[name]?.(until).then((outcome) => process.send?.(outcome));
});
process.once('disconnect', () => process.exit(0));
process.send?.(Object.keys(attacks));

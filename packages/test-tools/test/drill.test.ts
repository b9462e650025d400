import { afterEach, describe, expect, test, vi } from 'vitest';
import { rounds, Tally } from '../src/drill.ts';

describe('a tally', () => {
  test('it counts what is missing, what is there twice, and what never was', () => {
    const tally = new Tally();
    tally.compare(['a', 'b', 'c'], ['b', 'b', 'b', 'c', 'x']);
    expect(tally.counts).toEqual({ runs: 0, lost: 1, doubled: 2, hung: 0, lied: 1 });
    tally.compare(['a'], ['a', 'late'], ['a', 'late']);
    expect(tally.counts).toEqual({ runs: 0, lost: 1, doubled: 2, hung: 0, lied: 1 });
  });

  test('a run that fails has lied, unless it was counted as something else', async () => {
    const tally = new Tally();
    const fails = async () => expect(1).toBe(2);
    await expect(tally.run(fails)).rejects.toThrow();
    expect(tally.counts).toMatchObject({ runs: 1, lied: 1 });
    const loses = tally.counted(async (found: string[]) => {
      tally.compare(['a'], found);
      expect(found).toEqual(['a']);
    });
    await expect(loses([])).rejects.toThrow();
    await loses(['a']);
    expect(tally.counts).toEqual({ runs: 3, lost: 1, doubled: 0, hung: 0, lied: 1 });
  });

  test('a run that does not end in time hangs', async () => {
    const tally = new Tally();
    await expect(tally.run(() => new Promise(() => {}), 5)).rejects.toThrow(
      'A run did not end within 0.005 seconds.',
    );
    expect(tally.counts).toEqual({ runs: 1, lost: 0, doubled: 0, hung: 1, lied: 0 });
  });
});

describe('rounds', () => {
  afterEach(() => vi.unstubAllEnvs());

  test('it is the usual number, the long one, or that of CALLS_RUNS', () => {
    vi.stubEnv('CALLS_RUNS', '');
    vi.stubEnv('CALLS_DRILLS', 'usual');
    expect(rounds(3, 30)).toBe(3);
    vi.stubEnv('CALLS_DRILLS', 'long');
    expect(rounds(3, 30)).toBe(30);
    vi.stubEnv('CALLS_RUNS', '7');
    expect(rounds(3, 30)).toBe(7);
  });
});

import type { Call } from '@call-attribution/core';
import { nextChange } from '../generate/ads-status.ts';
import type { GeneratedCalls } from '../generate/generate.ts';
import type { GeneratedCall } from '../generate/make-call.ts';
import { mix } from '../generate/random.ts';

/** What happened to the calls of one account in a span of time. */
export interface Happening {
  readonly accountId: string;
  readonly arrived: readonly Call[];
  readonly changed: readonly Call[];
}

/** The future of one account's calls: which arrive and which change, and when. */
export interface Schedule {
  /** Adds a call that exists from the start. */
  watch(i: number, made: GeneratedCall): void;
  /** Everything that happens up to this time (seconds of wall time). Times must not decrease. */
  advance(to: number): Happening;
}

interface Unsettled {
  readonly i: number;
  readonly time: number;
  readonly changesAt: number;
}

/**
 * Plans arrivals at a steady rate with uneven gaps, and the changes in the ad data of each call.
 */
export function createSchedule(source: GeneratedCalls, callsPerMinute: number): Schedule {
  const gap = 60 / callsPerMinute;
  let unsettled: Unsettled[] = [];
  let nextIndex = source.records;
  let nextArrival = source.to + gapAfter(nextIndex);

  function gapAfter(i: number): number {
    return gap * (0.25 + (1.5 * mix(source.account.seed + i)) / 4294967296);
  }

  function watch(i: number, made: GeneratedCall, seenAt = source.to): void {
    const changesAt = made.time + nextChange(made.course, seenAt - made.time);
    if (Number.isFinite(changesAt)) unsettled.push({ i, time: made.time, changesAt });
  }

  return {
    watch: (i, made) => watch(i, made),
    advance(to) {
      const arrived: Call[] = [];
      const changed: Call[] = [];
      const due = unsettled.filter((call) => call.changesAt <= to);
      unsettled = unsettled.filter((call) => call.changesAt > to);
      for (const { i, time } of due) {
        const made = source.at(i, to, time);
        changed.push(made.call);
        watch(i, made, to);
      }

      while (nextArrival <= to) {
        const time = startOf(source.at(nextIndex, nextArrival, Math.floor(nextArrival)));
        const made = source.at(nextIndex, to, time);
        arrived.push(made.call);
        watch(nextIndex, made, to);
        nextIndex += 1;
        nextArrival += gapAfter(nextIndex);
      }

      return { accountId: source.account.id, arrived, changed };
    },
  };
}

// A record appears when its call is over, so a long call appears after shorter ones that began
// later.
function startOf({ call, time }: GeneratedCall): number {
  return time - Math.ceil((Number(call.talk_minutes) + Number(call.smart_minutes)) * 60) - 1;
}

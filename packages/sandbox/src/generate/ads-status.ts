import type { PpcStatus } from '@call-attribution/core';
import type { Random } from './random.ts';

/** When the state of a call changes, by its age in seconds. */
export interface AdsCourse {
  readonly waitsAt: number;
  readonly endsAt: number;
  readonly end: PpcStatus;
}

/** A call without an ad click never changes. */
export const noCourse: AdsCourse = {
  waitsAt: Number.POSITIVE_INFINITY,
  endsAt: Number.POSITIVE_INFINITY,
  end: 'N/A',
};

/**
 * Draws the course of one call: unprocessed for minutes, waiting for hours, then a final state; a
 * few never get there.
 */
export function drawCourse(random: Random, mobile: boolean): AdsCourse {
  const waitsAt = 300 + random.below(5400);
  const endsAt = waitsAt + 3600 + random.below(30 * 3600);
  const end = random.next();
  if (end < 0.02)
    return {
      waitsAt: Number.POSITIVE_INFINITY,
      endsAt: Number.POSITIVE_INFINITY,
      end: 'Not Processed',
    };

  if (end < 0.05) return { waitsAt, endsAt: Number.POSITIVE_INFINITY, end: 'Waiting For Keyword' };
  if (end < 0.13) return { waitsAt, endsAt, end: 'No Match' };
  if (end < 0.18 && !mobile) return { waitsAt, endsAt, end: 'Desktop' };
  return { waitsAt, endsAt, end: 'Processed' };
}

/** The state of a call at an age. */
export function statusAt(course: AdsCourse, age: number): PpcStatus {
  if (course === noCourse) return 'N/A';
  if (age >= course.endsAt) return course.end;
  return age >= course.waitsAt ? 'Waiting For Keyword' : 'Not Processed';
}

/** The age at which the state of a call changes next; Infinity when it is final. */
export function nextChange(course: AdsCourse, age: number): number {
  if (age < course.waitsAt) return course.waitsAt;
  return age < course.endsAt ? course.endsAt : Number.POSITIVE_INFINITY;
}

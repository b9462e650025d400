import { indexList, number } from '../worker/close-words.ts';

/** The target does not know the account. */
export const whyUnplanned = 'The target has no plan of it: plan the job again.';

/** Somebody has changed the plan. */
export const whyTorn = 'Its plan in the target has a gap, so nothing proves its records whole.';

/** Parcels are missing. */
export const whyMissing = (missing: readonly number[], of: number): string =>
  `${missing.length} of ${of} parcels are not committed (${indexList(missing)}).`;

/** All parcels are committed, and still something is not right. */
export function whyDiffers(facts: {
  /** Records that the target has, with those that it leaves out, and those that the server counts. */
  readonly held: number;
  readonly total: number;
  readonly differing: readonly number[];
  readonly damaged: ReadonlyMap<number, string>;
}): string {
  const { held, total, differing, damaged } = facts;
  const where = differing.length > 0 ? ` (parcels ${indexList(differing)})` : '';
  const counts =
    total > held
      ? [`the server counts ${number(total - held)} more than the target has${where}`]
      : total < held
        ? [`the target has ${number(held - total)} more than the server counts${where}`]
        : differing.length > 0
          ? [`the server counts others than the target has${where}`]
          : [];
  const files = [...damaged]
    .slice(0, 3)
    .map(([index, wrong]) => `parcel ${index}: ${wrong.replace(/\.$/, '')}`);
  const more = damaged.size > 3 ? [`${damaged.size - 3} more files are damaged`] : [];
  // What has the right size counts as committed.
  const help = damaged.size > 0 ? ['remove what is damaged to have it read again'] : [];
  return [...counts, ...files, ...more, ...help].join('; ');
}

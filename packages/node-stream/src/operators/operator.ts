import { through } from './chain.ts';
import type { Chain, Operator, RowForm, StepContext } from './forms.ts';
import type { ChainSource } from './packets.ts';
import type { Step } from './step.ts';

/** How an operator is made. */
export interface OperatorShape<I, O> {
  /** Its name, for errors and checkpoints. */
  readonly name: string;
  /** What decides about its output, as plain JSON: a state is not resumed with other settings. Functions are not compared. */
  readonly settings?: unknown;
  /** Why a read through it cannot be resumed, for errors. Default: it can. */
  readonly unsaved?: string | null;
  /** What a receipt says of the rows. Only encoders of records have it. */
  readonly rows?: RowForm<I>;
  /** Begins a run: with what an earlier one has saved, or with null. */
  begin(state: unknown, context: StepContext): Step<I, O>;
}

/**
 * Makes an operator of your own.
 *
 * @example
 * const pairs = defineOperator<number, [number, number]>({
 *   name: 'pairs',
 *   begin(state) {
 *     let last = typeof state === 'number' ? state : null;
 *     return {
 *       take: each((item, out) => {
 *         if (last !== null) out.push([last, item]);
 *         last = item;
 *       }),
 *       save: () => last,
 *     };
 *   },
 * });
 */
export function defineOperator<I, O>(shape: OperatorShape<I, O>): Operator<I, O> {
  const operator: Operator<I, O> = Object.assign(
    (source: ChainSource<I>): Chain<O> => through(source, operator),
    {
      kind: shape.name,
      settings: shape.settings ?? null,
      unsaved: shape.unsaved ?? null,
      rows: shape.rows ?? null,
      begin: shape.begin,
    },
  );
  return operator;
}

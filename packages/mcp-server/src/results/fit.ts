import { estimateTokens } from './tokens.ts';

/**
 * How many of the first `items` fit beside `fixed` into a budget of tokens. At least one: a page without a row
 * could never be left behind.
 */
export function countThatFits(items: readonly unknown[], fixed: unknown, budget: number): number {
  let used = estimateTokens(JSON.stringify(fixed));
  let count = 0;
  for (const item of items) {
    used += estimateTokens(JSON.stringify(item)) + 1;
    if (used > budget && count > 0) break;
    count += 1;
  }
  return count;
}

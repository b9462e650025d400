import axe from 'axe-core';
import type { Frame, Page } from 'playwright-core';

/**
 * What axe finds wrong in a page or frame: the rule, how often, and the first place. It must have
 * looked at something.
 */
export async function axeViolations(page: Page | Frame): Promise<unknown[]> {
  await page.evaluate(axe.source);
  const found = await page.evaluate<{
    readonly violations: readonly {
      readonly id: string;
      readonly nodes: readonly { readonly html: string }[];
    }[];
    readonly passes: readonly object[];
  }>(
    "axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })",
  );
  if (found.passes.length < 8)
    throw new Error(`axe has looked at ${found.passes.length} rules only`);
  return found.violations.map(({ id, nodes }) => [id, nodes.length, nodes[0]?.html]);
}

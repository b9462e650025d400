// Runs inside the page: how well each visible text stands out from its background, as WCAG measures
// it.
/** One text with its contrast, from 1 to 21. */
export interface Contrast {
  readonly text: string;
  readonly ratio: number;
}

interface Node {
  readonly parentElement: Node | null;
  readonly childNodes: Iterable<{ readonly nodeType: number; readonly textContent: string | null }>;
  readonly textContent: string | null;
  checkVisibility(): boolean;
  matches(selector: string): boolean;
}

/** The contrast of every element that has text of its own; disabled controls are left out. */
export function contrasts(): Contrast[] {
  const page = globalThis as unknown as {
    document: {
      body: { querySelectorAll(selector: string): Iterable<Node> };
      documentElement: Node;
    };
    getComputedStyle(element: Node): { color: string; backgroundColor: string };
  };
  const channels = (color: string) => (color.match(/[\d.]+/g) ?? []).map(Number);

  const light = (color: readonly number[]) => {
    const [r = 0, g = 0, b = 0] = color.map((value) => {
      const part = value / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };

  const backgroundOf = (element: Node | null): readonly number[] => {
    if (element === null) return [255, 255, 255];
    const [r = 0, g = 0, b = 0, alpha = 1] = channels(
      page.getComputedStyle(element).backgroundColor,
    );
    return alpha < 1 ? backgroundOf(element.parentElement) : [r, g, b];
  };

  return [...page.document.body.querySelectorAll('*')]
    .filter((element) =>
      [...element.childNodes].some((child) => child.nodeType === 3 && child.textContent?.trim()),
    )
    .filter(
      (element) =>
        element.checkVisibility() && !element.matches('.hidden, .skip, :disabled, svg *'),
    )
    .map((element) => {
      const text = light(channels(page.getComputedStyle(element).color).slice(0, 3));
      const back = light(backgroundOf(element));
      const ratio = (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);
      return {
        text: element.textContent?.trim().slice(0, 40) ?? '',
        ratio: Math.round(ratio * 100) / 100,
      };
    });
}

import { openDrill } from '@call-attribution/test-tools/drill';

openDrill({
  name: 'sale-histories',
  kind: 'random histories',
  what: 'Files of sales and of corrections are read in any order, run after run; the tool has what one run over all of them gives',
  countTests: true,
});

await import('../sale-histories.test.ts');

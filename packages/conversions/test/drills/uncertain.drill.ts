import { openDrill } from '@call-attribution/test-tools/drill';

openDrill({
  name: 'uncertain-uploads',
  kind: 'cut connections',
  what: 'Answers of Google and Microsoft get lost after any request; the next two runs make the tool equal to the calls',
  countTests: true,
});

await import('../push/uncertain.test.ts');

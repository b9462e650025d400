export const conversionName = {
  '--conversion-name <name>': 'name of the conversion action, goal or type, spelled as in the tool',
} as const;

export const dryRun = { '--dry-run': 'show what there would be, and write and send nothing' } as const;

/** What a conversion is worth, and which calls are one. */
export const ruleOptions = {
  '--value <amount>': 'value of each conversion, with its currency: 25USD',
  '--rules <file>':
    'JSON file with more rules: valueRules, unanswered, firstCallOnly, oncePerCaller, clickWindow, minAge, consent',
} as const;

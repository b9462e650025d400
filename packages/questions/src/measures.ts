// The table of measures alone, for help and completion, which load nothing else.
export {
  type Argument,
  type Measure,
  measureForm,
  measureForms,
  measures,
  type Part,
  type PartValue,
  type PlainPart,
} from './question/measures.ts';

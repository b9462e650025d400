import { guardStdout } from './stdout-guard.ts';

// A module of its own, so that the guard stands before the imports that follow it are evaluated.
guardStdout();

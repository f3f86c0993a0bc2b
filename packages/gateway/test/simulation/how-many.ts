/** How many worlds `npm test` runs: law Z6. They take one to two minutes of a processor. */
export const FIXED_WORLDS = 300;
export const NEW_WORLDS = 100;

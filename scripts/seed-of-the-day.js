/**
 * What tests draw by chance comes from this seed. It is another one each day, so that tests look further, and the same all day, so that a
 * failure can be repeated. `SEED=20000 npm test` takes that of another day.
 */
export const seedOfTheDay = Number(process.env.SEED ?? Math.floor(Date.now() / 86_400_000));

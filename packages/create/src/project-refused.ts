/** The folder cannot be used. The message says what to do. */
export class ProjectRefused extends Error {
  override readonly name: string = 'ProjectRefused';
}

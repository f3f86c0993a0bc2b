const NAME = 'lastcall.project';

/** The project that an operator looks at in this tab. Undefined: all of them. */
export function chosenProject(): string | undefined {
  return sessionStorage.getItem(NAME) ?? undefined;
}

/** The page is loaded anew: everything on it belongs to the project before. */
export function chooseProject(id: string | undefined): void {
  if (id === undefined) sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, id);
  // Not the same address: what it shows may belong to another project.
  location.assign('/');
}

/** Shows the same address again, in all projects. */
export function lookInAllProjects(): void {
  forgetProject();
  location.reload();
}

/** The next user of this tab may not know the project. */
export function forgetProject(): void {
  sessionStorage.removeItem(NAME);
}

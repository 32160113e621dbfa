import { SignInError, type SignInReason } from '../../../../src/errors';
import { renderLoginPage } from '../../../../src/web/dashboard/sign-in/login-page';
import { problemErrors, signInProblem } from '../../../../src/web/dashboard/sign-in/sign-in-problem';
import { SIGN_IN_TEXTS } from '../../../../src/web/dashboard/sign-in/sign-in-texts';

/** The login page after a rejected sign-in, and why it was rejected. */
function rejectedLogin(reason: SignInReason): { html: string; text: string } {
  const language = 'en';
  const problem = signInProblem(SIGN_IN_TEXTS[language], new SignInError(reason, 'a test', 900));
  const html = renderLoginPage({
    language,
    isSandbox: true,
    action: '/login',
    otherLanguage: null,
    email: 'siti@shop.test',
    returnPath: '/',
    errors: problemErrors(problem, 'password'),
    attributes: {},
  });
  return { html, text: problem.text };
}

it('writes above the form, and at no field, that there were too many attempts', () => {
  const { html, text } = rejectedLogin('throttled');
  expect(html.split(text)).toHaveLength(2);
  expect(html).not.toContain('aria-invalid');
  expect(html).not.toContain('href="#form"');
});

it('marks the password after a wrong one, and links to it', () => {
  const { html } = rejectedLogin('credentials');
  expect(html).toContain('aria-invalid');
  expect(html).toContain('href="#password"');
});

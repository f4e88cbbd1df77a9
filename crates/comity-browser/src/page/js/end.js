
  const refused = (error) => {
    if (error instanceof Refusal) {
      return JSON.stringify({ refused: { kind: error.kind, detail: error.detail ?? "" } });
    }
    throw error;
  };
  // A command that answers with an array has made its own text and adds things that only the protocol can carry.
  const answered = (answer) => (Array.isArray(answer) ? answer : JSON.stringify({ ok: answer }));

  return (name, args) => {
    try {
      const answer = commands[name](JSON.parse(args));
      return answer instanceof Promise ? answer.then(answered, refused) : answered(answer);
    } catch (error) {
      return refused(error);
    }
  };
})();
void 0;

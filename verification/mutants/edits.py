"""The changes of a function: each is a place in its source, and what replaces it."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Change:
    """Something small that is done to a text."""

    kind: str
    node: Any  # a part of a syntax tree that knows its place
    text: str


OPPOSITE: dict[type[ast.operator], ast.operator] = {
    ast.Add: ast.Sub(),
    ast.Sub: ast.Add(),
    ast.Mult: ast.Div(),
    ast.Div: ast.Mult(),
}
COMPARISONS: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">")),
    ast.LtE: ("<=", ("<", ">=")),
    ast.Gt: (">", (">=", "<")),
    ast.GtE: (">=", (">", "<=")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
}
SWAPPED = {"min": "max", "max": "min", "floor": "ceil", "ceil": "floor", "minimum": "maximum", "maximum": "minimum"}
PASSED_ON = {"sqrt", "abs", "exp", "log", "log2", "floor", "ceil", "cumsum", "sweep"}  # f(x) becomes x
STEPS = {"add", "append"}  # the verbs whose second argument is the length of a step
CLOCKS = {"t", "steps", "k", "updates", "rounds"}  # what counts rounds, here or in s.n
COMPOUND = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp)


def in_function(function: ast.FunctionDef) -> Iterator[Change]:
    """Every change of a function's body."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    parents = {child: node for node in ast.walk(function) for child in ast.iter_child_nodes(node)}
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(parents.get(node), (ast.JoinedStr, ast.FormattedValue)) or in_annotation(node, parents):
                continue
            if isinstance(node, ast.expr):
                yield from in_expression(node, parents)
            elif isinstance(node, ast.stmt):
                yield from in_statement(node, function)


def in_annotation(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    while node in parents:
        parent = parents[node]
        if isinstance(parent, (ast.AnnAssign, ast.arg)) and getattr(parent, "annotation", None) is node:
            return True
        if isinstance(parent, (ast.FunctionDef, ast.Raise)):
            return isinstance(parent, ast.Raise) or node is parent.returns
        node = parent
    return False


def alone(kept: ast.expr, instead_of: ast.expr, parents: dict[ast.AST, ast.AST]) -> str:
    """A part in place of the whole, in brackets where it would otherwise be torn apart."""
    parent = parents.get(instead_of)
    torn = isinstance(kept, COMPOUND) and isinstance(parent, (*COMPOUND, ast.Attribute, ast.Subscript))
    torn |= isinstance(kept, ast.Constant) and isinstance(parent, ast.Attribute)  # 0.sum is no Python
    return f"({ast.unparse(kept)})" if torn else ast.unparse(kept)


def in_expression(node: ast.expr, parents: dict[ast.AST, ast.AST]) -> Iterator[Change]:
    if isinstance(node, ast.BinOp):
        yield from in_sum_or_product(node, parents)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not)):
        kind = "sign" if isinstance(node.op, ast.USub) else "logic"
        yield Change(kind, node, alone(node.operand, node, parents))
    elif isinstance(node, ast.Compare):
        yield from in_comparison(node)
    elif isinstance(node, ast.BoolOp):
        yield from in_logic(node, parents)
    elif isinstance(node, ast.Call):
        yield from in_call(node, parents)
    elif isinstance(node, ast.IfExp):
        yield Change("condition", node, alone(node.body, node, parents))
        yield Change("condition", node, alone(node.orelse, node, parents))
    elif isinstance(node, ast.Constant):
        yield from in_constant(node)
    elif isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Load):
        name = node.attr if isinstance(node, ast.Attribute) else node.id
        of_state = isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith(".n")
        if name in CLOCKS and (of_state or (isinstance(node, ast.Name) and is_number_here(node, parents))):
            yield Change("shift", node, f"({ast.unparse(node)} + 1.0)")


def is_number_here(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """A bare name is a clock where it is reckoned with, not where it says which round is looked up."""
    parent = parents.get(node)
    return isinstance(parent, (ast.BinOp, ast.Call, ast.Return)) and not (
        isinstance(parent, ast.Call) and ast.unparse(parent.func) == "row"
    )


def in_sum_or_product(node: ast.BinOp, parents: dict[ast.AST, ast.AST]) -> Iterator[Change]:
    kind = "term" if isinstance(node.op, (ast.Add, ast.Sub)) else "factor"
    left, right = ast.unparse(node.left), ast.unparse(node.right)
    if type(node.op) in OPPOSITE:
        turned = ast.unparse(ast.BinOp(node.left, OPPOSITE[type(node.op)], node.right))
        yield Change("sign" if kind == "term" else "factor", node, turned)
    if not (isinstance(node.left, ast.Constant) and isinstance(node.op, (ast.Div, ast.Pow))):
        yield Change("power" if isinstance(node.op, ast.Pow) else kind, node, alone(node.left, node, parents))
    if isinstance(node.op, (ast.Add, ast.Mult)):
        yield Change(kind, node, alone(node.right, node, parents))
    elif isinstance(node.op, ast.Sub):
        yield Change(kind, node, f"(-({right}))" if isinstance(node.right, COMPOUND) else f"(-{right})")
    elif isinstance(node.op, ast.Div) and left != "1.0":
        yield Change(kind, node, f"(1.0 / ({right}))" if isinstance(node.right, COMPOUND) else f"(1.0 / {right})")


def in_comparison(node: ast.Compare) -> Iterator[Change]:
    sides = [node.left, *node.comparators]
    for at, op in enumerate(node.ops):
        for other in COMPARISONS.get(type(op), ("", ()))[1]:
            signs = [COMPARISONS[type(one)][0] if k != at else other for k, one in enumerate(node.ops)]
            texts = [
                f"({ast.unparse(one)})" if isinstance(one, (ast.BoolOp, ast.Compare, ast.IfExp)) else ast.unparse(one)
                for one in sides
            ]
            joined = texts[0] + "".join(f" {s} {t}" for s, t in zip(signs, texts[1:], strict=True))
            yield Change("comparison", node, joined)


def in_logic(node: ast.BoolOp, parents: dict[ast.AST, ast.AST]) -> Iterator[Change]:
    other = " or " if isinstance(node.op, ast.And) else " and "
    bracket = isinstance(parents.get(node), (ast.BoolOp, ast.UnaryOp))
    joined = other.join(
        f"({ast.unparse(one)})" if isinstance(one, ast.BoolOp) else ast.unparse(one) for one in node.values
    )
    yield Change("logic", node, f"({joined})" if bracket else joined)
    for one in node.values:
        yield Change("logic", node, alone(one, node, parents))


def in_call(node: ast.Call, parents: dict[ast.AST, ast.AST]) -> Iterator[Change]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
    if name in SWAPPED:
        yield Change("min-max", node.func, ast.unparse(node.func)[: -len(name)] + SWAPPED[name])
        if len(node.args) > 1:
            for one in node.args:
                yield Change("min-max", node, alone(one, node, parents))
    if name in PASSED_ON and len(node.args) >= 1:
        yield Change("function", node, alone(node.args[0], node, parents))
    if name == "copysign":
        yield Change("sign", node, ast.unparse(node.args[0]))
    if name in STEPS and len(node.args) == 3 and not isinstance(node.args[1], ast.UnaryOp):
        yield Change("sign", node.args[1], f"-({ast.unparse(node.args[1])})")
    tested = parents.get(node)
    if isinstance(tested, (ast.If, ast.While)) and tested.test is node:
        yield Change("condition", node, f"not {ast.unparse(node)}")


def in_constant(node: ast.Constant) -> Iterator[Change]:
    if isinstance(node.value, bool):
        yield Change("constant", node, repr(not node.value))
    elif isinstance(node.value, (int, float)):
        large = abs(node.value) > 1e3
        yield Change("constant", node, repr(2 * node.value if large else node.value + type(node.value)(1)))


def in_statement(node: ast.stmt, function: ast.FunctionDef) -> Iterator[Change]:
    """Drop what is done for its effect; a name that is never set would only be an error."""
    if isinstance(node, ast.AugAssign):
        if type(node.op) in OPPOSITE:
            kind = "sign" if isinstance(node.op, (ast.Add, ast.Sub)) else "factor"
            turned = ast.AugAssign(node.target, OPPOSITE[type(node.op)], node.value)
            yield Change(kind, node, ast.unparse(turned))
        yield Change("statement", node, "pass")
    elif droppable(node, function):
        yield Change("statement", node, "pass")


def droppable(node: ast.stmt, function: ast.FunctionDef) -> bool:
    if isinstance(node, ast.Assign):
        targets = [one for whole in node.targets for one in (whole.elts if isinstance(whole, ast.Tuple) else [whole])]
        stored = (one for one in ast.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
        before = {one.id for one in stored if one.lineno < node.lineno}
        return all(not isinstance(one, ast.Name) or one.id in before for one in targets)
    if isinstance(node, ast.Return):
        return node is not function.body[-1] and not truth(node.value)
    called = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    if called and any(isinstance(one, ast.Name) and one.id == "super" for one in ast.walk(node)):
        return False  # without it the code of a method has no cell for its class, and cannot take its place
    return called or isinstance(node, (ast.Break, ast.Continue))


def truth(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, bool)

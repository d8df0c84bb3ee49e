"""Lists the short forms that people use in headers and in names, `CUST_NM` and `Mtg House`, with their full words."""

from __future__ import annotations

from typing import Final

ABBREVIATIONS: Final = {
    "acc": "account", "acct": "account", "addr": "address", "amt": "amount", "appt": "appointment",
    "avail": "available", "avg": "average", "bal": "balance", "bday": "birthday", "bkg": "booking", "bldg": "building",
    "br": "branch", "cat": "category", "ccy": "currency", "cd": "code", "cmts": "comments", "cnt": "count",
    "co": "company", "ctry": "country", "cttee": "committee", "cty": "city", "cust": "customer", "deliv": "delivery",
    "dept": "department", "desc": "description", "diag": "diagnosis", "diam": "diameter", "dob": "date of birth",
    "doc": "document", "dt": "date", "emp": "employee", "equip": "equipment", "flg": "flag", "fname": "first name",
    "freq": "frequency", "govt": "government", "grp": "group", "hosp": "hospital", "ht": "height", "inv": "invoice",
    "lang": "language", "lname": "last name", "loc": "location", "maint": "maintenance", "mem": "member",
    "memb": "member", "mfr": "manufacturer", "mgmt": "management", "mgr": "manager", "mod": "modified",
    "mtg": "meeting", "mth": "month", "nbr": "number", "nm": "name", "num": "number", "opn": "open", "ord": "order",
    "org": "organisation", "pct": "percent", "pd": "paid", "pkg": "package", "pmt": "payment", "pos": "position",
    "prc": "price", "prev": "previous", "prio": "priority", "prod": "product", "purch": "purchase", "qtr": "quarter",
    "qty": "quantity", "rcpt": "receipt", "rcvd": "received", "recd": "received", "ref": "reference",
    "reg": "registration", "regn": "registration", "rep": "representative", "reqd": "required", "res": "residence",
    "rev": "revenue", "sal": "salary", "sched": "scheduled", "seg": "segment", "segm": "segment", "stat": "status",
    "supp": "supplier", "sz": "size", "tel": "telephone", "tot": "total", "trx": "transaction", "txn": "transaction",
    "typ": "type", "usr": "user", "val": "value", "veh": "vehicle", "vend": "vendor", "wgt": "weight",
    "whse": "warehouse", "wk": "week", "wt": "weight", "yr": "year",
}  # fmt: skip
